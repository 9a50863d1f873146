/** A change of the file system by one system call; paths are absolute. */
export type FileOperation =
  | { readonly kind: 'open'; readonly path: string; readonly mode: number; readonly flags: string }
  | { readonly kind: 'write'; readonly path: string; readonly data: Buffer; readonly offset?: number }
  | { readonly kind: 'truncate'; readonly path: string; readonly length: number }
  | { readonly kind: 'chmod'; readonly path: string; readonly mode: number }
  | { readonly kind: 'mkdir'; readonly path: string; readonly mode: number }
  | { readonly kind: 'symlink'; readonly path: string; readonly target: string }
  | { readonly kind: 'rename'; readonly from: string; readonly to: string }
  | { readonly kind: 'remove'; readonly path: string }
  /** Of a file or directory. */
  | { readonly kind: 'sync'; readonly path: string };
