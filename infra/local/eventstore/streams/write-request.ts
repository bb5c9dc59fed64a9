import type shared from '@eventstore/db-client/generated/shared_pb.js'
import type { ExpectedVersion } from '../engine/version-check.ts'
import type { ProposedEvent } from '../storage/event.ts'
import { invalidArgument, missingEventProperty } from '../wire/errors.ts'
import { parseUint64, parseUuid } from '../wire/fields.ts'

/** The largest append that EventStoreDB accepts. */
export const maximumAppendBytes = 1024 * 1024

/** The fields that the messages of `Append` and `BatchAppend` share. */
type ProposedMessage = {
  getId(): shared.UUID | undefined
  getMetadataMap(): { get(key: string): string | undefined }
  getCustomMetadata_asU8(): Uint8Array
  getData_asU8(): Uint8Array
}

export function parseProposedEvent(message: ProposedMessage): ProposedEvent {
  const properties = message.getMetadataMap()
  return {
    id: parseUuid(message.getId()),
    type: required(properties.get('type'), 'type'),
    isJson: required(properties.get('content-type'), 'content-type') === 'application/json',
    metadata: message.getCustomMetadata_asU8(),
    data: message.getData_asU8(),
  }
}

/** The size as EventStoreDB counts it, with two bytes for each character of the type. */
export function proposedBytes(event: ProposedEvent): number {
  return event.data.length + event.metadata.length + 2 * event.type.length
}

function required(value: string | undefined, property: string): string {
  if (!value) throw missingEventProperty(property)
  return value
}

/** The options that all writing RPCs share; only the exact revision has different names. */
type VersionOptions = {
  hasAny(): boolean
  hasNoStream(): boolean
  hasStreamExists(): boolean
}

export function parseExpectedVersion(options: VersionOptions, exact: string | undefined): ExpectedVersion {
  if (exact !== undefined) return parseUint64(exact)
  if (options.hasNoStream()) return 'no_stream'
  if (options.hasStreamExists()) return 'stream_exists'
  if (options.hasAny()) return 'any'
  throw invalidArgument('The expected version is missing.')
}
