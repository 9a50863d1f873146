/** The mount points in the text of `/proc/<pid>/mountinfo`. */
export const mountPointsIn = (mountInfo: string): readonly string[] =>
  mountInfo.split('\n').flatMap((line) => {
    const point = line.split(' ')[4];
    return point === undefined ? [] : [unescaped(point)];
  });

/**
 * The kernel writes blanks, tabs, newlines and backslashes as three octal digits, and every other character as it is.
 */
const unescaped = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
