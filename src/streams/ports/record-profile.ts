import type { Observable } from 'rxjs';
import type { ProfileKind, ProfileRequest } from '../../model/server/profile-request.js';
import type { CommandReply } from './container-command.js';

/**
 * Records a profile of this process from subscribing to the first value of `until$`, and then emits it as JSON of V8.
 * Unsubscribing ends the recording.
 *
 * Errors: the recording is not possible. Ends: after the profile.
 */
export type RecordProfile = (kind: ProfileKind, until$: Observable<unknown>) => Observable<string>;

/** Takes a profile of a duration. Emits one reply; unsubscribing ends the profile. */
export type TakeProfile = (request: ProfileRequest) => Observable<CommandReply>;
