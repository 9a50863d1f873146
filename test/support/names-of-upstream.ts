const TOTAL = 'counter metrics should have "_total" suffix';
const NO_TOTAL = 'non-counter metrics should not have "_total" suffix';
const COUNT = 'non-histogram and non-summary metrics should not have "_count" suffix';

/**
 * Complaints of `promtool check metrics` about names that the kubelet and cAdvisor have. Dashboards and alerts ask for these
 * names, so they stay as they are.
 */
export const OF_UPSTREAM: readonly { readonly name: string; readonly complaint: string }[] = [
  // Source: pkg/kubelet/certificate/kubelet.go; alerts of kubernetes-mixin
  { name: 'kubelet_certificate_manager_client_expiration_renew_errors', complaint: TOTAL },
  { name: 'kubelet_server_expiration_renew_errors', complaint: TOTAL },
  // Source: pkg/kubelet/metrics/metrics.go EventedPLEGConn
  { name: 'kubelet_evented_pleg_connection_error_count', complaint: TOTAL },
  { name: 'kubelet_evented_pleg_connection_error_count', complaint: COUNT },
  { name: 'kubelet_evented_pleg_connection_success_count', complaint: TOTAL },
  { name: 'kubelet_evented_pleg_connection_success_count', complaint: COUNT },
  // Source: github.com/google/cadvisor metrics/prometheus.go, lib/metrics
  { name: 'cadvisor_version_info', complaint: "label names should be written in 'snake_case' not 'camelCase'" },
  { name: 'container_fs_inodes_total', complaint: NO_TOTAL },
  { name: 'container_memory_failcnt', complaint: TOTAL },
];

/** The complaints about these names. */
export const complaintsAbout = (names: readonly string[]): readonly string[] =>
  OF_UPSTREAM.flatMap(({ name, complaint }) => (names.includes(name) ? [`${name} ${complaint}`] : []));
