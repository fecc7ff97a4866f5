/** A member of a structured list: a value, and parameters by name. */
export interface Member {
  readonly value: Bare;
  readonly parameters: ReadonlyMap<string, Bare>;
}

/** Only integers and decimals are told from the rest: nothing else is counted with. */
export type Bare = number | string | boolean;

const KEY = /[a-z*][a-z0-9_\-.*]*/y;
const NUMBER = /-?(?:\d{1,12}\.\d{1,3}|\d{1,15})(?![\d.])/y;
const STRING = /"((?:[ !#-[\]-~]|\\["\\])*)"/y;
const TOKEN = /[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*/y;
// Padding may be left out, but what is there must be right.
const BYTES = /:((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?):/y;
const BOOLEAN = /\?([01])/y;
const SPACES = / */y;
const BLANKS = /[ \t]*/y;

/**
 * Reads a list of items (RFC 9651, 4.2.1). Inner lists, dates and display strings are not read, because no field about
 * rates has them.
 *
 * @returns Undefined when any part of the field is malformed: it must then be ignored as a whole.
 */
export function readList(text: string): Member[] | undefined {
  const members: Member[] = [];
  const isWellFormed = new Reader(text).members((reader) => {
    const member = reader.item();
    if (member !== undefined) members.push(member);
    return member !== undefined;
  });
  return isWellFormed ? members : undefined;
}

/** Reads a dictionary of items (RFC 9651, 4.2.2); of a key that comes twice the last counts. */
export function readDictionary(text: string): ReadonlyMap<string, Member> | undefined {
  const members = new Map<string, Member>();
  const isWellFormed = new Reader(text).members((reader) => {
    const key = reader.take(KEY)?.[0];
    if (key === undefined) return false;
    const member = reader.takeText("=") ? reader.item() : reader.withParameters(true);
    if (member !== undefined) members.set(key, member);
    return member !== undefined;
  });
  return isWellFormed ? members : undefined;
}

class Reader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads members with commas between them, to the end of the text. False when it cannot be read so. */
  members(read: (reader: Reader) => boolean): boolean {
    this.take(SPACES);
    if (this.#isAtEnd()) return true;
    while (read(this)) {
      this.take(BLANKS);
      if (this.#isAtEnd()) return true;
      if (!this.takeText(",")) return false;
      this.take(BLANKS);
    }
    return false;
  }

  /** Takes what stands here when it is of that form. */
  take(form: RegExp): RegExpExecArray | undefined {
    form.lastIndex = this.#at;
    const match = form.exec(this.#text);
    if (match === null) return undefined;
    this.#at += match[0].length;
    return match;
  }

  takeText(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  item(): Member | undefined {
    const value = this.#bare();
    return value === undefined ? undefined : this.withParameters(value);
  }

  withParameters(value: Bare): Member | undefined {
    const parameters = new Map<string, Bare>();
    while (this.takeText(";")) {
      this.take(SPACES);
      const key = this.take(KEY)?.[0];
      if (key === undefined) return undefined;
      const parameter = this.takeText("=") ? this.#bare() : true;
      if (parameter === undefined) return undefined;
      parameters.set(key, parameter);
    }
    return { value, parameters };
  }

  #isAtEnd(): boolean {
    return this.#at === this.#text.length;
  }

  #bare(): Bare | undefined {
    const number = this.take(NUMBER);
    if (number !== undefined) return Number(number[0]);
    const boolean = this.take(BOOLEAN);
    if (boolean !== undefined) return boolean[1] === "1";
    return this.take(STRING)?.[1]?.replace(/\\(.)/g, "$1") ?? this.take(BYTES)?.[1] ?? this.take(TOKEN)?.[0];
  }
}
