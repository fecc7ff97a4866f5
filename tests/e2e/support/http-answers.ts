/** What a service answers to a request: JSON at once, or parts one after the other. */
export type HttpAnswer =
  | { readonly json: unknown }
  | { readonly type: string; readonly parts: readonly [first: string, ...rest: string[]] };

/** What the services say. A stream says the words one by one. */
export const WORDS = ["high", "tide"] as const;

const USAGE = { input: 3, output: 7 } as const;

/** Tokens that each answer of a model says it has used. */
export const TOTAL_TOKENS = USAGE.input + USAGE.output;

/** As much of each API as its SDK needs to read the answer; for a path of none of them `{ text }`, or plain text. */
export function answerTo(path: string, isStream: boolean): HttpAnswer {
  if (path.endsWith("/chat/completions")) return isStream ? chatStream() : { json: chat() };
  if (path.endsWith("/responses")) return isStream ? responseStream() : { json: response("completed") };
  if (path.endsWith("/messages")) return isStream ? messageStream() : { json: message() };
  const [first, second] = WORDS;
  return isStream ? { type: "text/plain", parts: [first, second] } : { json: { text: text() } };
}

/** What a client must have understood of an answer. */
export function text(): string {
  return WORDS.join("");
}

function chat(): unknown {
  return {
    id: "chat-1",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "tide-1",
    choices: [{ index: 0, message: { role: "assistant", content: text() }, finish_reason: "stop" }],
    usage: { prompt_tokens: USAGE.input, completion_tokens: USAGE.output, total_tokens: TOTAL_TOKENS },
  };
}

function chatStream(): HttpAnswer {
  const chunk = (delta: object, finish: string | null): string =>
    event({
      id: "chat-1",
      object: "chat.completion.chunk",
      created: 1_700_000_000,
      model: "tide-1",
      choices: [{ index: 0, delta, finish_reason: finish }],
    });
  const [first, second] = WORDS;
  return eventStream(
    chunk({ role: "assistant", content: first }, null),
    chunk({ content: second }, null) + chunk({}, "stop") + "data: [DONE]\n\n",
  );
}

function message(): unknown {
  return {
    id: "msg_1",
    type: "message",
    role: "assistant",
    model: "tide-1",
    content: [{ type: "text", text: text() }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { input_tokens: USAGE.input, output_tokens: USAGE.output },
  };
}

function messageStream(): HttpAnswer {
  const delta = (word: string): string =>
    typed({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: word } });
  const [first, second] = WORDS;
  return eventStream(
    typed({ type: "message_start", message: { ...(message() as object), content: [], stop_reason: null } }) +
      typed({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }) +
      delta(first),
    delta(second) +
      typed({ type: "content_block_stop", index: 0 }) +
      typed({
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: USAGE.output },
      }) +
      typed({ type: "message_stop" }),
  );
}

function response(status: "completed" | "in_progress"): unknown {
  const isDone = status === "completed";
  const content = [{ type: "output_text", text: text(), annotations: [] }];
  return {
    id: "resp_1",
    object: "response",
    created_at: 1_700_000_000,
    status,
    error: null,
    incomplete_details: null,
    model: "tide-1",
    output: isDone ? [{ type: "message", id: "out_1", role: "assistant", status, content }] : [],
    usage: isDone
      ? { input_tokens: USAGE.input, output_tokens: USAGE.output, total_tokens: TOTAL_TOKENS }
      : null,
  };
}

function responseStream(): HttpAnswer {
  const item = { type: "message", id: "out_1", role: "assistant" };
  const delta = (word: string): string =>
    typed({
      type: "response.output_text.delta",
      item_id: item.id,
      output_index: 0,
      content_index: 0,
      delta: word,
    });
  const itemEvent = (type: string, status: string, content: unknown[]): string =>
    typed({ type, output_index: 0, item: { ...item, status, content } });
  const [first, second] = WORDS;
  return eventStream(
    typed({ type: "response.created", response: response("in_progress") }) +
      itemEvent("response.output_item.added", "in_progress", []) +
      delta(first),
    delta(second) +
      itemEvent("response.output_item.done", "completed", [
        { type: "output_text", text: text(), annotations: [] },
      ]) +
      typed({ type: "response.completed", response: response("completed") }),
  );
}

function eventStream(first: string, second: string): HttpAnswer {
  return { type: "text/event-stream", parts: [first, second] };
}

function event(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}

function typed(data: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${data.type}\n${event(data)}`;
}
