/** Returns the handler of the RuntimeClass of that name; undefined if there is no such class. */
export type RuntimeClasses = (name: string) => string | undefined;
