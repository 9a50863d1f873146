import type { Observable } from 'rxjs';

/** The address of a server that a pod names; an IPv6 address has no brackets. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Opens a TCP connection on subscribe, closes it and completes. No data is sent; unsubscribing cancels it at any stage. Errors: the
 * failure in the words of Go: `dial tcp 10.0.0.1:80: connect: connection refused`.
 */
export type TcpConnect = (address: ServerAddress) => Observable<never>;
