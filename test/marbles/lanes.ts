export { expectLanes, type Lanes, linesOf } from '../../src/tools/marbles/lanes.js';
