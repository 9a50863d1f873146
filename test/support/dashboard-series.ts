/**
 * The series behind the panels, rules and alerts about kubelets, nodes, workloads and pods of kubernetes-mixin (its state of August
 * 2026), by where they are.
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

/** The disks that the dashboards ask for. */
export const DASHBOARD_DEVICE = /^\/dev\/./;

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
  ...['container_cpu_usage_seconds_total', 'container_memory_working_set_bytes', 'container_memory_rss'],
  ...['container_cpu_cfs_periods_total', 'container_cpu_cfs_throttled_periods_total', 'container_fs_writes_total'],
  ...['container_fs_writes_bytes_total', 'container_file_descriptors'],
];

/** On `/metrics`, with the labels by which panels group or select; of a histogram one series. */
export const OF_KUBELET: readonly (readonly [name: string, ...labels: readonly string[]])[] = [
  ['kubelet_node_name', 'node'],
  ['kubelet_running_pods'],
  ['kubelet_running_containers', 'container_state'],
  ['kubelet_runtime_operations_total', 'operation_type'],
  ['kubelet_runtime_operations_duration_seconds_bucket', 'operation_type', 'le'],
  ['kubelet_runtime_operations_errors_total', 'operation_type'],
  ['kubelet_pod_worker_duration_seconds_bucket', 'operation_type', 'le'],
  ['kubelet_pod_worker_duration_seconds_count', 'operation_type'],
  ['kubelet_pod_start_duration_seconds_bucket', 'le'],
  ['kubelet_pod_start_duration_seconds_count'],
  ['kubelet_pleg_relist_duration_seconds_bucket', 'le'],
  ['kubelet_pleg_relist_duration_seconds_count'],
  ['kubelet_pleg_relist_interval_seconds_bucket', 'le'],
  ['kubelet_cgroup_manager_duration_seconds_bucket', 'operation_type', 'le'],
  ['kubelet_cgroup_manager_duration_seconds_count', 'operation_type'],
  ['volume_manager_total_volumes', 'plugin_name', 'state'],
  ['storage_operation_duration_seconds_bucket', 'operation_name', 'volume_plugin', 'le'],
  ['storage_operation_duration_seconds_count', 'operation_name', 'volume_plugin'],
  ['process_cpu_seconds_total'],
  ['process_resident_memory_bytes'],
  ['kubernetes_build_info', 'git_version'],
  ['kubelet_certificate_manager_client_ttl_seconds'],
  ['kubelet_certificate_manager_server_ttl_seconds'],
  ['kubelet_certificate_manager_client_expiration_renew_errors'],
  ['kubelet_server_expiration_renew_errors'],
];

/** On `/metrics` of a node of a cluster. */
export const OF_API_CLIENT: typeof OF_KUBELET = [
  ['rest_client_requests_total', 'code', 'method', 'host'],
  ['rest_client_request_duration_seconds_bucket', 'verb', 'host', 'le'],
];

/** These stay 0 on a healthy node. */
export const COUNTS_OF_FAULTS: ReadonlySet<string> = new Set([
  'kubelet_certificate_manager_client_expiration_renew_errors',
  'kubelet_server_expiration_renew_errors',
]);

/**
 * Series that the agent has no source for. The first ones are for claims of volumes, which do not run on it. No kubelet of today has
 * the last two. Not among the series at all are `go_goroutines`, which is about Go, and those of evictions, which a node has once it has
 * evicted a pod.
 */
export const WITHOUT_SOURCE = [
  ...['capacity_bytes', 'available_bytes', 'used_bytes', 'inodes', 'inodes_free', 'inodes_used'].map(
    (of) => `kubelet_volume_stats_${of}`,
  ),
  ...['kubelet_node_config_error', 'storage_operation_errors_total'],
];
