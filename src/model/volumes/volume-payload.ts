/** One file of a volume. */
export interface VolumeFile {
  readonly data: Uint8Array;
  /** Permission bits, such as 0o644. */
  readonly mode: number;
  /** The user that owns the file; the agent's own user if absent. */
  readonly user?: number;
}

/** The files of a volume, by their paths relative to the directory of the volume. */
export type VolumePayload = ReadonlyMap<string, VolumeFile>;
