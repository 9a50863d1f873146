import { firstValueFrom } from 'rxjs';
import { machineFacts } from '../../../src/host/facts/machine-facts.js';
import { readNodeFacts } from '../../../src/host/facts/read-node-facts.js';
import { initialNode } from '../../../src/model/node/initial-node.js';
import { nodeSettings, nodeStatusFacts } from '../../support/node-object.js';

/** Prints the addresses of this node and the problems of its new Node object, whose `--node-ip` is the first argument. */
const machine = await firstValueFrom(machineFacts('/')());
const { nodeIps } = readNodeFacts({ rootDirectory: '/', podLogsDirectory: '/' }, { warn: () => undefined });
const settings = { ...nodeSettings, nodeIps: process.argv.slice(2) };
const { node, problems } = initialNode(settings, { ...nodeStatusFacts, machine });
console.log(JSON.stringify({ nodeIps, addresses: node.status?.addresses, problems }));
