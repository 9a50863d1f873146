import { concat, NEVER, type Observable, of } from 'rxjs';
import { GENERIC_PLEG, type PlegCadence } from '../../src/model/pleg/pleg.js';

/** Lists with this period for good. */
export const every = (periodMs: number): Observable<PlegCadence> => concat(of({ ...GENERIC_PLEG, periodMs }), NEVER);
