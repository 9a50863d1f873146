/**
 * Replaces each `$(NAME)` whose name `lookup` knows. `$$` is a dollar; all other text stays, unknown names included;
 * values are not expanded again. Source: third_party/forked/golang/expansion/expand.go.
 */
export const expand = (text: string, lookup: (name: string) => string | undefined): string =>
  text.replace(/\$(?:\$|\(([^)]*)\))/g, (reference, name: string | undefined) =>
    name === undefined ? '$' : (lookup(name) ?? reference),
  );
