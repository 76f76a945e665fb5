/** What a benchmark prints. */

export const print = (line = ""): void => void process.stdout.write(`${line}\n`);

/** Shows a step in a line that the next one overwrites, and shows nothing if the output is not a terminal. */
export const tell = (what: string): void => {
  if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K${what}`);
};

/** The widths of the columns of a table. */
const COLUMNS = [30, 10, 10, 8, 9, 9, 8, 9, 9];

/** Prints a line of a table: numbers with three digits, the first column from the left. */
export const row = (cells: readonly (string | number)[], columns: readonly number[] = COLUMNS): void =>
  print(
    cells
      .map((cell, i) => {
        const text = typeof cell === "number" ? cell.toFixed(cell < 10 ? 2 : cell < 100 ? 1 : 0) : cell;
        return i === 0 ? text.padEnd(columns[i] ?? 0) : text.padStart(columns[i] ?? 0);
      })
      .join(""),
  );
