/** A number from 0 up, below 1, that looks random and is the same in every run. */
export function shareOf(text: string): number {
  let hash = 0x811c9dc5; // FNV-1a, then a mix, for texts that differ at the end alone
  for (const letter of text) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
}
