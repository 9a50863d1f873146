/** Whether the content of `/proc/swaps` names a swap, below its heading. Source: pkg/kubelet/util/swap/swap_util.go */
export const isSwapOn = (swaps: string): boolean => swaps.trim().split('\n').length > 1;
