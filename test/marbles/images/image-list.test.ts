import { defer, delay, of, throwError } from 'rxjs';
import { expect, it } from 'vitest';
import { imageLists } from '../../../src/streams/images/image-list.js';
import { anImage } from '../../support/an-image.js';
import { marbles } from '../marbles.js';

it(
  'lists images at once and 30 s after each listing, largest first; one that fails is said and left out',
  marbles(({ expectObservable, scheduler }) => {
    const [small, large, middle] = [1n, 3n, 2n].map((size) => anImage(`of ${size}`, { size }));
    const said: string[] = [];
    const note = (_fields: object, message: string) => said.push(message);
    let listings = 0;
    const listing$ = defer(() => {
      listings += 1;
      if (listings === 2) return throwError(() => new Error('away'));
      return of({ images: [small!, large!, middle!] }).pipe(delay(5_000, scheduler));
    });
    const list$ = imageLists({
      images: { listImages: () => listing$ },
      log: { debug: note, info: note, warn: note, error: note },
      scheduler,
    });
    // The second listing, after 35 s, fails at once; the third starts after 65 s.
    expectObservable(list$, '90s !').toBe('5s l 64999ms l', { l: [large, middle, small] });
    scheduler.schedule(() => expect(said).toEqual(['the images of the node could not be listed']), 80_000);
  }),
);
