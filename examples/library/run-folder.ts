// A node agent of your own in ten lines: it runs the manifests of a folder over the runtime behind a socket. It does nothing
// until somebody subscribes, and unsubscribing ends the agent but not the pods.
//
//     const endpoint = 'unix:///run/containerd/containerd.sock';
//     runFolder('manifests', { endpoint, podLogsDirectory: '/var/log/pods' }).subscribe(console.log);
import { type Observable, switchMap } from 'rxjs';
import { kubelet, type StopRequest, type WorkerOutcome } from 'rx-kubelet';
import { fileSource, nodePorts } from 'rx-kubelet/node';

export const runFolder = (
  path: string,
  { endpoint, podLogsDirectory }: { readonly endpoint: string; readonly podLogsDirectory: string },
  stop$?: Observable<StopRequest>,
): Observable<WorkerOutcome> =>
  nodePorts({ endpoint, node: { podLogsDirectory } }).pipe(
    switchMap((ports) => {
      const sources = { file: fileSource({ path, nodeName: 'edge' }) };
      return kubelet(ports, { sources, ...(stop$ && { stop$ }) }).outcome$;
    }),
  );
