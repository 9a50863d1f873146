import { once } from 'node:events';
import { createReadStream, existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';

interface Index {
  readonly manifests: readonly {
    readonly mediaType: string;
    readonly digest: string;
    readonly annotations: Readonly<Record<string, string>>;
  }[];
}

export interface ImageServer {
  /** `127.0.0.1:<port>`, as it begins the name of an image. */
  readonly address: string;
  /** The paths that were asked for. */
  readonly served: () => readonly string[];
  readonly close: () => Promise<void>;
}

/** A registry without encryption or passwords that serves the images of an OCI layout. */
export const imageServer = async (layout: string): Promise<ImageServer> => {
  const { manifests } = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')) as Index;
  const served: string[] = [];
  const server = createServer(({ url = '', method }, response) => {
    served.push(url);
    const [, repository, kind, name = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/?]+)/.exec(url) ?? [];
    const named = manifests.find(({ annotations }) =>
      annotations['io.containerd.image.name']?.endsWith(`/${repository}:${name}`),
    );
    const digest = name.startsWith('sha256:') ? name : (named?.digest ?? '');
    const path = join(layout, 'blobs/sha256', digest.slice('sha256:'.length));
    if (url !== '/v2/' && (digest === '' || !existsSync(path))) {
      response.writeHead(404).end();
      return;
    }
    const manifest = manifests.find((one) => one.digest === digest);
    response.writeHead(200, {
      'content-type': kind === 'manifests' ? (manifest?.mediaType ?? '') : 'application/octet-stream',
      'docker-content-digest': digest,
    });
    if (url === '/v2/' || method === 'HEAD') response.end();
    else createReadStream(path).pipe(response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  return {
    address: `127.0.0.1:${port}`,
    served: () => served,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
};
