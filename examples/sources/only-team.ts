// A filter for a source: only the pods of one team run here.
//
// A source delivers complete sets, so a pod that is filtered out is not wanted: a change of its label stops it. Problems pass.
//
//     kubelet({ ...options, sources: { http: httpSource(…).pipe(onlyTeam('payments')) } })
import { map, type MonoTypeOperatorFunction } from 'rxjs';
import { podSet, type SourceEvent } from 'rx-kubelet';

export const onlyTeam = (team: string): MonoTypeOperatorFunction<SourceEvent> =>
  map((event) =>
    event.kind === 'set' ? podSet(event.pods.filter(({ metadata }) => metadata.labels?.['team'] === team)) : event,
  );
