import { type Observable, of } from 'rxjs';
import type { TokenVerdict } from '../../model/server/authenticate.js';

/** Reviews a bearer token; emits one verdict and completes. Errors: the token could not be reviewed. */
export type AuthenticateToken = (token: string) => Observable<TokenVerdict>;

/** Knows no token. */
export const noToken: AuthenticateToken = () => of({});
