import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { errorText } from '../../model/cri/cri-error.js';
import { readAgentFile } from './agent-file.js';
import type { AgentPaths } from '../config/settings/agent-paths.js';

const TIMEOUT_MS = 10_000;

/**
 * The reply of the agent that uses these paths. Errors: no agent runs there, it does not reply, or it belongs to
 * another user.
 */
export const askAgent = async ({ agentFile, agentSocket, rootDir }: AgentPaths, path: string): Promise<string> => {
  const agent = readAgentFile(agentFile);
  if (!agent) throw new Error(`no agent runs on ${rootDir}: ${agentFile} is missing (--root-dir names another folder)`);
  try {
    return await get(agentSocket, path);
  } catch (error) {
    const isDenied = (error as NodeJS.ErrnoException).code === 'EACCES';
    const why = isDenied ? 'only its own user, and root, can connect to it' : errorText(error);
    throw new Error(`the agent (pid ${agent.pid}) does not answer at ${agentSocket}: ${why}`, { cause: error });
  }
};

const get = (socketPath: string, path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { socketPath, path, headers: { host: 'localhost' }, signal: AbortSignal.timeout(TIMEOUT_MS) };
    request(options, (response) => {
      const { statusCode, statusMessage } = response;
      if (statusCode === 200) text(response).then(resolve, reject);
      else {
        response.resume();
        reject(new Error(`it replied ${statusCode} ${statusMessage}`));
      }
    })
      .on('error', reject)
      .end();
  });
