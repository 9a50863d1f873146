/** One mount of `/proc/<pid>/mountinfo`. */
export interface Mount {
  readonly point: string;
  /** `<major>:<minor>` */
  readonly device: string;
  /** Such as `ext4`. */
  readonly type: string;
  /** Such as `/dev/sda1`. */
  readonly source: string;
}

/** The mounts in the text of `/proc/<pid>/mountinfo`, in the order in which they were made. */
export const mountsIn = (mountInfo: string): readonly Mount[] =>
  mountInfo.split('\n').flatMap((line) => {
    const fields = line.split(' ');
    const [, , device = '', , point] = fields;
    if (point === undefined) return [];
    // Optional fields end with a dash.
    const [type = '', source = ''] = fields.slice(fields.indexOf('-', 5) + 1);
    return [{ point: unescaped(point), device, type, source: unescaped(source) }];
  });

/** The mount points in the text of `/proc/<pid>/mountinfo`. */
export const mountPointsIn = (mountInfo: string): readonly string[] => mountsIn(mountInfo).map(({ point }) => point);

/**
 * The kernel writes blanks, tabs, newlines and backslashes as three octal digits, and every other character as it is.
 */
const unescaped = (path: string): string =>
  path.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
