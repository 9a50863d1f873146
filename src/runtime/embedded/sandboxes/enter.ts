import type { Isolation, NamespaceKind } from '../confinement/isolation.js';

const FLAGS: Record<NamespaceKind, string> = { mount: '-m', ipc: '-i', uts: '-u', pid: '-p' };

/**
 * The command prefix that enters the namespaces of `target`. With mounts of its own the process gets a new mount namespace
 * instead of that of `target`: a copy of the machine's, since mounts that the machine got after the start of the pod are
 * missing in the pod's where the machine's mounts are not shared.
 */
export const enterArguments = (
  { tools }: Isolation,
  kinds: ReadonlySet<NamespaceKind>,
  target: number | undefined,
  ownMounts: 'none' | 'slave' | 'private',
): readonly string[] => {
  const nsenter = tools.get('nsenter');
  if (target === undefined || !nsenter || kinds.size === 0) return [];
  const unshare = tools.get('unshare') ?? 'unshare';
  const entered = [...kinds].filter((kind) => ownMounts === 'none' || kind !== 'mount');
  return [
    ...(entered.length > 0 ? [nsenter, '-t', String(target), ...entered.map((kind) => FLAGS[kind])] : []),
    ...(ownMounts === 'none' ? [] : [unshare, '--mount', '--propagation', ownMounts]),
    ...(ownMounts !== 'none' && kinds.has('pid') ? ['--mount-proc'] : []),
  ];
};
