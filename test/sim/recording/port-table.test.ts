import type { Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { KubeletPorts } from '../../../src/kubelet-options.js';
import { PORT_RULES, type RulesOf, type SpecialPorts } from '../../../src/tools/recording/ports/port-table.js';

describe('the rules of the ports', () => {
  it('have a place for every port: one that is new does not compile without a rule', () => {
    interface Grown extends KubeletPorts {
      readonly ask: (what: string) => Observable<string>;
    }
    // @ts-expect-error: `ask` has no rule.
    const rules = PORT_RULES satisfies RulesOf<Grown, SpecialPorts>;
    expect(rules).not.toHaveProperty('ask');
    interface GrownRuntime extends KubeletPorts {
      readonly runtime: KubeletPorts['runtime'] & { readonly ask: (what: string) => Observable<string> };
    }
    // @ts-expect-error: `runtime.ask` has none.
    expect(PORT_RULES satisfies RulesOf<GrownRuntime, SpecialPorts>).toBe(rules);
  });

  it('fit what the port is', () => {
    const told = { kind: 'told' } as const;
    // @ts-expect-error: a call has an answer.
    expect({ ...PORT_RULES, diskSpace: told } satisfies RulesOf<KubeletPorts, SpecialPorts>).toHaveProperty(
      'diskSpace',
    );
    // @ts-expect-error: a port with code in it is no fact.
    const files = { ...PORT_RULES, files: { kind: 'fact' } as const } satisfies RulesOf<KubeletPorts, SpecialPorts>;
    expect(files).toHaveProperty('files');
  });
});
