export { inTurn, marbles } from '../../src/tools/marbles/marbles.js';
