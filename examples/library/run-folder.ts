// A node agent in ten lines: it runs the manifests of a folder over the runtime behind a socket. A subscription starts it, and
// unsubscribing ends the agent but not the pods.
//
//     const endpoint = 'unix:///run/containerd/containerd.sock';
//     const directories = { podLogsDirectory: '/var/log/pods', rootDirectory: '/var/lib/my-agent' };
//     runFolder('manifests', { endpoint, ...directories }).subscribe(console.log);
import type { Observable } from 'rxjs';
import { kubelet, type StopRequest, type WorkerOutcome } from 'rx-kubelet';
import { fileSource, type NodePortsOptions, type NodeSettings, withNodePorts } from 'rx-kubelet/node';

export const runFolder = (
  path: string,
  { podLogsDirectory, rootDirectory, ...connection }: Omit<NodePortsOptions, 'node'> & NodeSettings,
  stop$?: Observable<StopRequest>,
): Observable<WorkerOutcome> =>
  withNodePorts({ ...connection, node: { podLogsDirectory, rootDirectory } }, (ports) => {
    const sources = { file: fileSource({ path, nodeName: 'edge' }) };
    return kubelet(ports, { sources, ...(stop$ && { stop$ }) }).outcome$;
  });
