import { concatMap, tap } from 'rxjs';
import { logind } from '../../../../src/host/logind/logind.js';

/** Watches and holds a lock until it is killed, and prints `held`. The first argument is the folder of the settings. */
const inhibitor = logind({ settingsDirectory: process.argv[2] ?? '' });
inhibitor
  .watch()
  .pipe(
    concatMap(() => inhibitor.takeLock()),
    tap(() => console.log('held')),
  )
  .subscribe();
