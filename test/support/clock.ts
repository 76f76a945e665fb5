/**
 * NODE_OPTIONS that move a process's clock by some hours, as on a host without time synchronisation. Timers are not
 * affected.
 */
export const clockOff = (hours: number): string => {
  const source = `
    const offset = ${hours} * 3600000;
    const now = Date.now.bind(Date);
    globalThis.Date = new Proxy(Date, {
      construct: (real, given) => (given.length === 0 ? new real(now() + offset) : new real(...given)),
      get: (real, name) => (name === "now" ? () => now() + offset : real[name]),
    });`;
  return `--import=data:text/javascript,${encodeURIComponent(source)}`;
};
