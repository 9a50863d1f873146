import type { MachineFacts } from '../../model/node/machine-facts.js';
import type { Observable } from 'rxjs';

/** Emits the facts of the machine once. Errors: Node's own, if a fact that every machine has cannot be read. */
export type ReadMachine = () => Observable<MachineFacts>;
