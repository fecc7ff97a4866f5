import { numberText, percentText, timeText } from "./format.js";
import type { Run } from "./simulate.js";

export interface Figure {
  readonly name: string;
  readonly label: string;
  readonly text: string;
}

/** Tokens above the bound that doubles may make of none. */
const NOTHING = 1e-6;

/** The numbers of a run in words. */
export function figuresOf({ numbers }: Run): Figure[] {
  const { requests, doneMs, worstWaitMs, medianWaitMs, utilisation, mostInLine, excess } = numbers;
  const most = Math.max(...excess);
  return [
    { name: "done", label: `All ${numberText(requests)} granted after`, text: timeText(doneMs) },
    { name: "worst", label: "Worst wait", text: timeText(worstWaitMs) },
    { name: "median", label: "Median wait", text: timeText(medianWaitMs) },
    { name: "in-line", label: "Most in line", text: numberText(mostInLine) },
    {
      name: "utilisation",
      label: "Used of what the bound allows",
      text: utilisation.map(percentText).join(" and "),
    },
    {
      name: "bound",
      label: "Bound passed, in any window",
      text: most > NOTHING ? `by ${numberText(most)} tokens` : "never",
    },
  ];
}
