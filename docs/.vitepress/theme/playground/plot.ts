import { boundAt } from "./dimensions.js";
import { numberText, unitOf } from "./format.js";
import { type Point, thinned, ticksTo } from "./scale.js";
import type { Run } from "./simulate.js";

export interface Curve {
  /** What it shows: the class of its colour, and its name in the legend. */
  readonly name: "arrivals" | "grants" | "bound" | "waiting" | "first" | "second";
  readonly label: string;
  /** The `d` of an SVG path. */
  readonly path: string;
}

export interface Tick {
  /** Pixels along its axis. */
  readonly place: number;
  readonly text: string;
}

export interface Panel {
  readonly title: string;
  readonly top: number;
  readonly height: number;
  readonly ticks: readonly Tick[];
  readonly curves: readonly Curve[];
}

/** A drawing in pixels: panels one below the other, over one axis of time. */
export interface Plot {
  readonly width: number;
  readonly height: number;
  readonly left: number;
  readonly right: number;
  readonly times: readonly Tick[];
  readonly panels: readonly Panel[];
}

const LEFT = 48;
const RIGHT = 12;
const TITLE = 34;
const AXIS = 28;

/** @param width - Pixels that there are. */
export function plotOf(run: Run, width: number): Plot {
  const right = width - RIGHT;
  const x = (ms: number): number => LEFT + (ms / run.endMs) * (right - LEFT);
  const panels: Panel[] = [];
  let top = 0;
  for (const { title, height, most, curves } of contentsOf(run)) {
    top += TITLE;
    const foot = top + height;
    const y = (value: number): number => foot - (value / most) * height;
    panels.push({
      title,
      top,
      height,
      ticks: ticksTo(most).map((value) => ({ place: y(value), text: numberText(value) })),
      curves: curves.map(({ name, label, points }) => ({
        name,
        label,
        path: pathOf(
          thinned(points, run.endMs / (right - LEFT)).map((one) => ({ x: x(one.x), y: y(one.y) })),
        ),
      })),
    });
    top = foot;
  }
  const unit = unitOf(run.endMs);
  const times = ticksTo(run.endMs / unit.ms).map((value) => ({
    place: x(value * unit.ms),
    text: `${numberText(value)} ${unit.name}`,
  }));
  return { width, height: top + AXIS, left: LEFT, right, times, panels };
}

interface Content {
  readonly title: string;
  readonly height: number;
  /** The value at the top. */
  readonly most: number;
  readonly curves: readonly (Omit<Curve, "path"> & { readonly points: readonly Point[] })[];
}

function contentsOf(run: Run): Content[] {
  const { dimensions, arrivals, grants, readings, endMs, numbers } = run;
  const several = dimensions.length > 1;
  const filled = dimensions.map(({ capacity }, index) =>
    readings.map(({ at, tokens }) => ({ x: at, y: (100 * (tokens[index] ?? NaN)) / capacity })),
  );
  const fullest = filled.flat().reduce((most, { y }) => Math.max(most, y), 100);
  return [
    {
      title: "Requests so far",
      height: 200,
      most: Math.max(1, numbers.requests) * 1.08,
      curves: [
        { name: "arrivals", label: "arrived", points: countPoints(arrivals, endMs) },
        { name: "grants", label: "granted", points: countPoints(grants, endMs) },
        { name: "bound", label: "bound: burst + rate × time", points: boundPoints(run) },
      ],
    },
    {
      title: "Requests in line",
      height: 90,
      most: Math.max(1, numbers.mostInLine) * 1.08,
      curves: [
        {
          name: "waiting",
          label: "in line",
          points: readings.map(({ at, queued }) => ({ x: at, y: queued })),
        },
      ],
    },
    {
      title: "Tokens in the bucket, % of its burst",
      height: 90,
      most: fullest * 1.08,
      curves: filled.map((points, index) => ({
        name: index === 0 ? "first" : "second",
        label: !several ? "tokens" : index === 0 ? "first dimension" : "second dimension",
        points,
      })),
    },
  ];
}

/** How many times have passed, as steps. */
function countPoints(times: readonly number[], endMs: number): Point[] {
  const steps = times.flatMap((at, count) => [
    { x: at, y: count },
    { x: at, y: count + 1 },
  ]);
  return [{ x: 0, y: 0 }, ...steps, { x: endMs, y: times.length }];
}

/** The requests that the bounds of all dimensions allow: straight between the moments at which another one is the least. */
function boundPoints({ dimensions, endMs }: Run): Point[] {
  const pieces = 200;
  return Array.from({ length: pieces + 1 }, (_, piece) => {
    const at = (piece / pieces) * endMs;
    return { x: at, y: Math.min(...dimensions.map((one) => boundAt(one, at) / one.tokens)) };
  });
}

function pathOf(points: readonly Point[]): string {
  return points
    .map(({ x, y }, index) => `${index === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`)
    .join("");
}
