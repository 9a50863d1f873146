/**
 * The series behind the panels, rules and alerts about kubelets, nodes, workloads and pods of kubernetes-mixin (its state of August
 * 2026), by where they are. Those of claims of volumes (`kubelet_volume_stats_*`) are for pods with such claims alone, and
 * `kubelet_evictions` for nodes that have evicted. Not among them is what no kubelet of today has: `kubelet_node_config_error` and
 * `storage_operation_errors_total`; and `go_goroutines`, which is about Go.
 */
export const OF_CONTAINERS = [
  ...['container_cpu_usage_seconds_total', 'container_memory_working_set_bytes', 'container_memory_rss'],
  ...['container_memory_cache', 'container_memory_swap', 'container_memory_usage_bytes'],
  ...['container_cpu_cfs_periods_total', 'container_cpu_cfs_throttled_periods_total'],
  // Those of other common dashboards.
  ...['container_start_time_seconds', 'container_spec_cpu_quota', 'container_spec_cpu_shares'],
  ...['container_spec_memory_limit_bytes', 'container_last_seen', 'container_processes'],
  ...['container_file_descriptors', 'container_sockets', 'container_ulimits_soft', 'container_threads'],
];

/** For each disk. */
export const OF_TRANSFERS = ['reads', 'writes', 'reads_bytes', 'writes_bytes'].map((of) => `container_fs_${of}_total`);

/** For each interface of the pod. */
export const OF_NETWORKS = ['receive', 'transmit'].flatMap((way) =>
  ['bytes', 'packets', 'packets_dropped', 'errors'].map((what) => `container_network_${way}_${what}_total`),
);

export const OF_MACHINE = [
  'machine_cpu_cores',
  'machine_memory_bytes',
  'machine_scrape_error',
  'container_scrape_error',
];

/** Under load these are above 0. */
export const GROWN = [
  ...['container_cpu_usage_seconds_total', 'container_memory_working_set_bytes', 'container_cpu_cfs_periods_total'],
  ...['container_cpu_cfs_throttled_periods_total', 'container_fs_writes_total', 'container_fs_writes_bytes_total'],
  ...['container_file_descriptors'],
];

/** On `/metrics`; a histogram has its buckets. */
export const OF_KUBELET = [
  ...['kubelet_node_name', 'kubelet_running_pods', 'kubelet_running_containers', 'kubelet_runtime_operations_total'],
  ...['kubelet_runtime_operations_duration_seconds_bucket', 'kubelet_runtime_operations_errors_total'],
  ...['kubelet_pod_worker_duration_seconds_bucket', 'kubelet_pod_start_duration_seconds_bucket'],
  ...['kubelet_pleg_relist_duration_seconds_bucket', 'kubelet_pleg_relist_interval_seconds_bucket'],
  ...['kubelet_cgroup_manager_duration_seconds_bucket', 'volume_manager_total_volumes'],
  ...['storage_operation_duration_seconds_bucket', 'process_cpu_seconds_total', 'process_resident_memory_bytes'],
  ...['kubernetes_build_info', 'kubelet_certificate_manager_client_ttl_seconds'],
  ...['kubelet_certificate_manager_client_expiration_renew_errors', 'kubelet_server_expiration_renew_errors'],
];
