import { type Observable, of } from 'rxjs';
import type { AccessQuestion } from '../../model/server/access-review.js';

/** Emits whether the user has access, and completes. Errors: access could not be reviewed. */
export type AuthorizeAccess = (question: AccessQuestion) => Observable<boolean>;

/** Gives access to every user that is authenticated: `authorization.mode: AlwaysAllow`. */
export const alwaysAllow: AuthorizeAccess = () => of(true);
