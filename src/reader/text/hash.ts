/** The hash of a string as a signed number: FNV-1a over its UTF-16 units (Fowler, Noll and Vo). */
export const hashOf = (text: string): number => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash;
};
