import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { sendSignal } from '../../../../src/processes/send-signal.js';
import { isCommand } from '../../../containerd/lacking.js';
import { eventually } from '../../../embedded/eventually.js';

/** The programs that this machine lacks for a bus with a logind; empty when it has all of them. */
export const lackingForBus: readonly string[] = ['dbus-daemon', 'busctl', 'systemd-inhibit', 'setpriv', 'perl'].filter(
  (name) => !isCommand(name),
);

const STAND_IN = fileURLToPath(new URL('stand-in-logind.pl', import.meta.url));

/** A bus of a test, with a logind that shuts nothing down. */
export interface BusStage {
  readonly folder: string;
  /** The folder of the settings of logind. */
  readonly settingsDirectory: string;
  /** The environment of a program whose system bus is this one. */
  readonly env: NodeJS.ProcessEnv;
  /** The lines that logind has printed. */
  readonly said: readonly string[];
  /** Waits until logind has printed the line for the n-th time; the first unless given. */
  readonly prints: (line: string, times?: number) => Promise<unknown>;
  /** Gives logind a command: see `stand-in-logind.pl`. */
  readonly command: (line: string) => void;
  /** The command lines of all processes on this bus, except the bus and logind. */
  readonly programs: () => readonly { readonly pid: number; readonly command: string }[];
  readonly endBus: () => Promise<void>;
  /** Ends everything and removes the folder. */
  readonly end: () => Promise<void>;
}

const CONFIGURATION = (socket: string): string => `<busconfig>
  <listen>unix:path=${socket}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow user="*"/>
    <allow own="*"/>
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
  </policy>
</busconfig>
`;

export const busStage = async (): Promise<BusStage> => {
  const folder = mkdtempSync(join(tmpdir(), 'rx-bus-'));
  const settingsDirectory = join(folder, 'logind.conf.d');
  mkdirSync(settingsDirectory);
  const socket = join(folder, 'bus');
  writeFileSync(join(folder, 'bus.conf'), CONFIGURATION(socket));
  const bus = spawn('dbus-daemon', [`--config-file=${join(folder, 'bus.conf')}`, '--nofork', '--print-address'], {
    // Its error output lists all connections of monitors.
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const printed = linesOf(bus);
  await eventually('the bus', () => printed.length > 0);

  const settings = join(settingsDirectory, '99-kubelet.conf');
  const standIn = spawn('perl', [STAND_IN, socket, settings], { stdio: ['pipe', 'pipe', 'inherit'] });
  const said = linesOf(standIn);
  const prints: BusStage['prints'] = (line, times = 1) =>
    eventually(`logind prints ${line}`, () => said.filter((one) => one === line).length >= times);
  await prints('ready');

  const address = `unix:path=${socket}`;
  const programs: BusStage['programs'] = () =>
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name) && textOf(name, 'environ').includes(`DBUS_SYSTEM_BUS_ADDRESS=${address}`))
      .map((name) => ({ pid: Number(name), command: textOf(name, 'cmdline').replaceAll('\0', ' ').trim() }));
  return {
    folder,
    settingsDirectory,
    env: { ...process.env, DBUS_SYSTEM_BUS_ADDRESS: address },
    said,
    prints,
    command: (line) => void standIn.stdin?.write(`${line}\n`),
    programs,
    endBus: () => ended(bus),
    end: async () => {
      for (const { pid } of programs()) sendSignal(pid, 'SIGKILL');
      await Promise.all([ended(standIn), ended(bus)]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
};

const linesOf = ({ stdout }: ChildProcess): readonly string[] => {
  const lines: string[] = [];
  if (stdout) createInterface({ input: stdout }).on('line', (line) => lines.push(line));
  return lines;
};

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const end = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await end;
};

/** A file of a process, empty if it has ended. */
const textOf = (pid: string, file: 'environ' | 'cmdline'): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
};
