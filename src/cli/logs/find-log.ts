import { errorText } from '../../model/cri/cri-error.js';
import { isAgentAlive, readAgentFile } from '../running-agent/agent-file.js';
import { askAgent } from '../running-agent/ask-agent.js';
import { findByAgent } from './find-by-agent.js';
import { findByFiles } from './find-by-files.js';
import type { FoundLog, LogPlaces, LogRequest } from './found-log.js';

/**
 * Finds the log: by the agent that runs on these paths, else by its folders and the runtime, if that one runs.
 *
 * Errors: there is no such pod or container, or it has no log yet, in the texts of kubectl and of the kubelet.
 */
export const findLog = async (request: LogRequest, places: LogPlaces): Promise<FoundLog> => {
  const agent = readAgentFile(places.paths.agentFile);
  if (!agent || !isAgentAlive(agent)) return findByFiles(request, places);
  let answer: string;
  try {
    answer = await askAgent(places.paths, '/pods');
  } catch (error) {
    const found = await findByFiles(request, places);
    return { ...found, notes: [`(${errorText(error)}; its files were read instead)`, ...found.notes] };
  }
  return findByAgent(answer, agent.node, request, places);
};
