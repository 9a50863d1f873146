// A filter in front of a source: of all pods that it wants, only those of one team run here.
//
// Since a source delivers complete sets, a pod that is filtered out is a pod that is not wanted: changing its label stops
// it. Problems pass.
//
//     kubelet({ ...options, sources: { http: httpSource(…).pipe(onlyTeam('payments')) } })
import { map, type MonoTypeOperatorFunction } from 'rxjs';
import { podSet, type SourceEvent } from 'rx-kubelet';

export const onlyTeam = (team: string): MonoTypeOperatorFunction<SourceEvent> =>
  map((event) =>
    event.kind === 'set' ? podSet(event.pods.filter(({ metadata }) => metadata.labels?.['team'] === team)) : event,
  );
