import type { Isolation, NamespaceKind } from './isolation.js';

const FLAGS: Record<NamespaceKind, string> = { mount: '-m', ipc: '-i', uts: '-u', pid: '-p' };

/** The words in front of a command that put it into the namespaces of `target`, and on wish into a mount namespace of its own. */
export const enterArguments = (
  { tools }: Isolation,
  kinds: ReadonlySet<NamespaceKind>,
  target: number | undefined,
  ownMounts: boolean,
): readonly string[] => {
  const nsenter = tools.get('nsenter');
  if (target === undefined || !nsenter || kinds.size === 0) return [];
  const unshare = tools.get('unshare') ?? 'unshare';
  return [
    ...[nsenter, '-t', String(target), ...[...kinds].map((kind) => FLAGS[kind])],
    ...(ownMounts ? [unshare, '--mount', '--propagation', 'slave'] : []),
  ];
};
