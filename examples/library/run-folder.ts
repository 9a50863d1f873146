// A node agent of your own in ten lines: it runs the manifests of a folder over the runtime behind a socket. It does nothing
// until somebody subscribes, and unsubscribing ends the agent but not the pods.
//
//     const endpoint = 'unix:///run/containerd/containerd.sock';
//     runFolder('manifests', { endpoint, podLogsDirectory: '/var/log/pods' }).subscribe(console.log);
import type { Observable } from 'rxjs';
import { kubelet, type StopRequest, type WorkerOutcome } from 'rx-kubelet';
import { fileSource, type NodePortsOptions, withNodePorts } from 'rx-kubelet/node';

export const runFolder = (
  path: string,
  { podLogsDirectory, ...connection }: Omit<NodePortsOptions, 'node'> & { readonly podLogsDirectory: string },
  stop$?: Observable<StopRequest>,
): Observable<WorkerOutcome> =>
  withNodePorts({ ...connection, node: { podLogsDirectory } }, (ports) => {
    const sources = { file: fileSource({ path, nodeName: 'edge' }) };
    return kubelet(ports, { sources, ...(stop$ && { stop$ }) }).outcome$;
  });
