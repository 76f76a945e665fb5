/** The hash of a string, or of a part of it, as a signed number: FNV-1a over its UTF-16 units (Fowler, Noll and Vo). */
export const hashOf = (text: string, from = 0, to = text.length): number => {
  let hash = 0x811c9dc5;
  for (let at = from; at < to; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
};
