export type ProfileKind = 'cpu' | 'heap' | 'allocs';

export interface ProfileRequest {
  readonly kind: ProfileKind;
  readonly seconds: number;
}

export type ProfileCall = ProfileRequest | { readonly status: number; readonly text: string };

/** Source: net/http/pprof of Go, Profile */
export const DEFAULT_SECONDS = 30;
/** Go allows the write timeout of the server, 4 h. A profile is in memory until it is sent. */
export const MOST_SECONDS = 300;

const KINDS: Readonly<Record<string, ProfileKind>> = { profile: 'cpu', heap: 'heap', allocs: 'allocs' };

/** The page of `/debug/pprof/`. */
export const PROFILE_PAGE = `Profiles of this process, in the formats of V8

profile?seconds=${DEFAULT_SECONDS}  CPU time by function: a .cpuprofile for the Performance tab of DevTools
heap?seconds=${DEFAULT_SECONDS}     memory that was allocated meanwhile and is still in use: a .heapprofile for the Memory tab
allocs?seconds=${DEFAULT_SECONDS}   the same with the memory that is free again

seconds: 1 to ${MOST_SECONDS}; without it ${DEFAULT_SECONDS}. One profile is taken at a time, and ends with its connection.
The profiles of Go, such as goroutine, do not exist here.
`;

/** Returns the profile that a path below `/debug/pprof/` asks for, or the refusal. */
export const profileCall = (name: string, query: URLSearchParams): ProfileCall => {
  if (!Object.hasOwn(KINDS, name)) {
    return {
      status: 404,
      text: `Unknown profile: this process is not written in Go; /debug/pprof/ lists its profiles\n`,
    };
  }
  const text = query.get('seconds') ?? String(DEFAULT_SECONDS);
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (seconds < 1 || seconds > MOST_SECONDS) {
    return { status: 400, text: `seconds: expected a whole number from 1 to ${MOST_SECONDS}\n` };
  }
  return { kind: KINDS[name]!, seconds };
};
