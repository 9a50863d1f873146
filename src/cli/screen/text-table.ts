const GAP = '   ';

/** Lines of cells in columns of equal width, without borders. */
export const textTable = (lines: readonly (readonly string[])[]): string => {
  const widths = (lines[0] ?? []).map((_, column) => Math.max(...lines.map((cells) => (cells[column] ?? '').length)));
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
};
