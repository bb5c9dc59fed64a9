import { armored } from '../../../src/sdk/javascript/app/offline/armor.ts'
import { type Case, instanceId, keyOf, keyset, licenseKeyHash, now, place, stranger } from './keys.ts'
import { claims, device, time } from './leases2.ts'
import { signedToken, tokenOf } from './tokens.ts'

const seed = '5'.repeat(64)
const own = keyOf(seed)
const deviceKey = Buffer.from(own.publicKey, 'base64').toString('base64url')
const footer = JSON.stringify({ pk: deviceKey })

/** What a device signs with its own key, to be carried to the vendor. */
export function requests() {
  const of = (name: string, why: string, kind: 'REQUEST' | 'RELEASE', message: object) => {
    const text = JSON.stringify(message)
    const assertion = `keyledger:${kind.toLowerCase()}1:${place.tenantId}:${place.productId}`
    const token = signedToken(text, footer, assertion, { by: own })
    return { name, why, kind, message: text, token, text: armored(kind, token) }
  }
  const request = {
    iat: time(now),
    nonce: '00112233445566778899aabbccddeeff',
    counter: now,
    license_key_hash: licenseKeyHash,
    instance_name: 'Office',
    device: { machine_hash: device.machineHash, components: device.components },
  }
  const release = { iat: time(now), instance_id: instanceId, serial: claims.serial }
  return {
    ...place,
    seed,
    deviceKey,
    cases: [
      of('a request', 'for a machine that says what it is', 'REQUEST', request),
      of('a request of a machine without an identity', 'it is known by its key', 'REQUEST', {
        ...request,
        device: { machine_hash: deviceKey, components: {} },
      }),
      of('a request with a name in another writing', 'text is signed as UTF-8', 'REQUEST', {
        ...request,
        instance_name: 'Studio – 事務所 🖥',
      }),
      of('a release', 'the device has stopped using its file', 'RELEASE', release),
      of('a release of a borrowed seat', 'with the fence of the seat', 'RELEASE', { ...release, fence: 7 }),
    ],
  }
}

/** Lists of withdrawn files. */
export function withdrawn() {
  const list = { iat: time(now), serial: now * 1_000_000, files: ['fil_1', 'fil_2'] }
  const valid = (name: string, why: string, message: object, files: readonly string[]): Case => ({
    name,
    valid: true,
    why,
    token: tokenOf(message, { says: 'withdrawn1' }),
    files,
  })
  const wrong = (name: string, why: string, token: string): Case => ({ name, valid: false, why, token })
  const { files: _, ...withoutFiles } = list
  const { serial: __, ...withoutSerial } = list
  return {
    keyset,
    ...place,
    cases: [
      valid('two files', 'everything is as it was signed', list, list.files),
      valid('no file', 'nothing was withdrawn', { ...list, files: [] }, []),
      valid('an id that is no text', 'it is ignored', { ...list, files: ['fil_1', 7, null] }, ['fil_1']),
      valid(
        'unknown claim',
        'claims that a verifier does not know are ignored',
        { ...list, color: 'blue' },
        list.files,
      ),
      wrong('a license file', 'it was signed as one', tokenOf({ ...claims, file: 'fil_1', nonce: 'n' })),
      wrong(
        'another product',
        'signed for acme-player',
        tokenOf(list, { says: 'withdrawn1', in: { ...place, productId: 'acme-player' } }),
      ),
      wrong(
        'unknown key',
        'the kid is not in the keyset',
        tokenOf(list, { says: 'withdrawn1', by: stranger }),
      ),
      wrong('no files', 'a list has files', tokenOf(withoutFiles, { says: 'withdrawn1' })),
      wrong('no serial', 'a list has a serial', tokenOf(withoutSerial, { says: 'withdrawn1' })),
      wrong(
        'seconds',
        'times are texts as in RFC 3339',
        tokenOf({ ...list, iat: now }, { says: 'withdrawn1' }),
      ),
      wrong('empty', 'there is nothing in it', ''),
    ],
  }
}

/** Tokens of PASETO: those of its own test vectors, and such as are none. */
export function paseto() {
  const theirs = keyOf('b4cbfb43df4ce210727d953e4a713307fa19bb7d9f85041438d9e11b942a3774')
  const message = '{"data":"this is a signed message","exp":"2022-01-01T00:00:00+00:00"}'
  const beside = '{"kid":"zVhMiPBP9fRf2snEcT7gFTioeA9COcNy9DfgL1W60haN"}'
  const good = signedToken(message, beside, '{"test-vector":"4-S-3"}', { by: theirs })
  const [, , body = ''] = good.split('.')
  const of = (
    name: string,
    why: string,
    token: string,
    { valid = true, assertion = '', readAs = message, footer: f = '' } = {},
  ) => ({
    name,
    valid,
    why,
    token,
    assertion,
    ...(valid && { message: readAs, footer: f }),
  })
  const third = { assertion: '{"test-vector":"4-S-3"}' }
  return {
    publicKey: Buffer.from(theirs.publicKey, 'base64').toString('hex'),
    cases: [
      of('4-S-1', 'a message alone', signedToken(message, '', '', { by: theirs })),
      of('4-S-2', 'with a footer', signedToken(message, beside, '', { by: theirs }), { footer: beside }),
      of('4-S-3', 'with an assertion, which is not sent', good, { ...third, footer: beside }),
      of('without its assertion', 'it is part of what is signed', good, { valid: false }),
      of('with another assertion', 'it is part of what is signed', good, {
        valid: false,
        assertion: '{"test-vector":"4-S-2"}',
      }),
      of('without its footer', 'it is part of what is signed', `v4.public.${body}`, {
        valid: false,
        ...third,
      }),
      of('another key', 'signed by somebody else', signedToken(message, '', '', { by: stranger }), {
        valid: false,
      }),
      of('v3', 'another version', good.replace('v4', 'v3'), { valid: false, ...third }),
      of('local', 'another purpose', good.replace('public', 'local'), { valid: false, ...third }),
      of('upper case', 'the header is lower case', good.replace('v4.public', 'V4.PUBLIC'), {
        valid: false,
        ...third,
      }),
      of('padding', 'base64url has none here', `${good}=`, { valid: false, ...third }),
      of('plus and slash', 'they are of another alphabet', good.replaceAll('-', '+').replaceAll('_', '/'), {
        valid: false,
        ...third,
      }),
      of('white space', 'it is none of the alphabet', good.replace('.public.', '.public. '), {
        valid: false,
        ...third,
      }),
      of('another part', 'there are four at most', `${good}.AAAA`, { valid: false, ...third }),
      of('63 bytes', 'a signature has 64', `v4.public.${'A'.repeat(84)}`, { valid: false }),
      of('empty', 'there is nothing in it', '', { valid: false }),
    ],
  }
}
