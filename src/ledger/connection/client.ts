import { EventStoreDBClient } from '@eventstore/db-client'

/**
 * A client of the event store.
 * @param url `esdb://host:port?tls=false`, `esdb+discover://…` for a cluster, or `unix:<path>` for the embedded one
 */
export function clientOf(url: string): EventStoreDBClient {
  // The client's connection strings support only hosts and ports.
  return url.startsWith('unix:')
    ? new EventStoreDBClient({ endpoint: url }, { insecure: true })
    : EventStoreDBClient.connectionString(url)
}
