import fc from 'fast-check';

/** The properties of all tests draw the same values in every run; another number in FC_SEED draws others. */
fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 1) });
