import { labelText, type MetricFamily } from './exposition.js';
import type { MachineSample } from './node-sample.js';

/** Yields the families about the machine. Source: github.com/google/cadvisor metrics/prometheus_machine.go */
export function* machineMetrics(machine: MachineSample | undefined): Generator<MetricFamily> {
  if (machine) {
    const { facts, physicalCores, sockets } = machine;
    const labels = labelText({ boot_id: facts.bootId, machine_id: facts.machineId, system_uuid: facts.systemUuid });
    const rows: readonly (readonly [name: string, help: string, value: number | undefined])[] = [
      ['machine_cpu_cores', 'Logical processors.', facts.cpus],
      ['machine_cpu_physical_cores', 'Cores.', physicalCores],
      ['machine_cpu_sockets', 'Sockets of processors.', sockets],
      ['machine_memory_bytes', 'Bytes of memory.', Number(facts.memoryBytes)],
      ['machine_swap_bytes', 'Bytes of swap.', Number(facts.swapBytes)],
    ];
    for (const [name, help, value] of rows) {
      yield { name, help, type: 'gauge', series: value === undefined ? [] : [{ labels, value }] };
    }
    yield {
      name: 'cadvisor_version_info',
      help: 'Versions of the kernel and the system; there is no cAdvisor.',
      type: 'gauge',
      series: [
        {
          labels: labelText({
            cadvisorRevision: '',
            cadvisorVersion: '',
            dockerVersion: '',
            kernelVersion: facts.kernelVersion,
            osVersion: facts.osImage,
          }),
          value: 1,
        },
      ],
    };
  }
  yield {
    name: 'machine_scrape_error',
    help: '1 if the machine could not be read, else 0.',
    type: 'gauge',
    series: [{ labels: '', value: machine ? 0 : 1 }],
  };
}

export const scrapeError = (problems: readonly string[]): MetricFamily => ({
  name: 'container_scrape_error',
  type: 'gauge',
  help: '1 if a figure could not be read, else 0.',
  series: [{ labels: '', value: problems.length > 0 ? 1 : 0 }],
});
