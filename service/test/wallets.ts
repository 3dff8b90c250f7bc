import { createHash } from 'node:crypto'
import { getAddressDecoder } from '@solana/addresses'
import {
  getOffchainMessageEncoder,
  type OffchainMessage,
  offchainMessageContentUtf8Of1232BytesMax,
} from '@solana/offchain-messages'
import { beginCell, storeStateInit } from '@ton/core'
import { keyPairFromSeed, sign } from '@ton/crypto'
import {
  WalletContractV1R1,
  WalletContractV2R2,
  WalletContractV3R1,
  WalletContractV3R2,
  WalletContractV4,
  WalletContractV5R1,
} from '@ton/ton'
import nacl from 'tweetnacl'
import { seededBytes } from './seed.js'

export type SolanaWallet = ReturnType<typeof createSolanaWallet>

/** A Solana wallet on libraries of others: tweetnacl signs, the Solana kit encodes. */
export function createSolanaWallet() {
  const { publicKey, secretKey } = nacl.sign.keyPair.fromSeed(Uint8Array.from(seededBytes()))
  const address = getAddressDecoder().decode(publicKey)
  const signBytes = (bytes: Uint8Array) => Buffer.from(nacl.sign.detached(bytes, secretKey))
  const signEnvelope = (message: OffchainMessage) =>
    signBytes(Uint8Array.from(getOffchainMessageEncoder().encode(message)))
  return {
    address,
    publicKey,
    signBytes,
    signText: (text: string) => signBytes(Buffer.from(text)),
    /** As a hardware wallet does, version 0; the application's domain is 32 bytes, none is zeros. */
    signVersionZero: (
      text: string,
      applicationDomain: Uint8Array<ArrayBuffer> = new Uint8Array(32),
      signers = [address],
    ) =>
      signEnvelope({
        version: 0,
        applicationDomain: getAddressDecoder().decode(applicationDomain) as never,
        requiredSignatories: signers.map((signer) => ({ address: signer })),
        content: offchainMessageContentUtf8Of1232BytesMax(text),
      }),
    signVersionOne: (text: string, signers = [address]) =>
      signEnvelope({ version: 1, requiredSignatories: signers.map((signer) => ({ address: signer })), content: text }),
  }
}

/** SHA-256 of a host: the application domain of an off-chain message. */
export function applicationDomain(host: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(createHash('sha256').update(host).digest())
}

const tonVersions = {
  v1r1: (publicKey: Buffer) => WalletContractV1R1.create({ workchain: 0, publicKey }),
  v2r2: (publicKey: Buffer) => WalletContractV2R2.create({ workchain: 0, publicKey }),
  v3r1: (publicKey: Buffer) => WalletContractV3R1.create({ workchain: 0, publicKey }),
  v3r2: (publicKey: Buffer) => WalletContractV3R2.create({ workchain: 0, publicKey }),
  v4r2: (publicKey: Buffer) => WalletContractV4.create({ workchain: 0, publicKey }),
  v5r1: (publicKey: Buffer) => WalletContractV5R1.create({ workchain: 0, publicKey }),
}

export type TonVersion = keyof typeof tonVersions
export type TonWallet = ReturnType<typeof createTonWallet>

/** A TON wallet on libraries of others: contracts, cells and signatures are theirs. */
export function createTonWallet(version: TonVersion = 'v4r2') {
  const keys = keyPairFromSeed(seededBytes())
  const { address, init } = tonVersions[version](keys.publicKey)
  const walletStateInit = beginCell().store(storeStateInit(init)).endCell().toBoc().toString('base64')
  const publicKey = keys.publicKey.toString('hex')
  const number = (value: number, length: number) => Buffer.from(value.toString(16).padStart(length * 2, '0'), 'hex')
  const account = Buffer.concat([number(address.workChain >>> 0, 4), address.hash])
  const digest = (...parts: (Buffer | string)[]) =>
    createHash('sha256')
      .update(Buffer.concat(parts.map((part) => Buffer.from(part))))
      .digest()
  const prefix = Buffer.from([0xff, 0xff, ...Buffer.from('ton-connect')])
  return {
    address: address.toRawString(),
    friendly: address,
    publicKey,
    walletStateInit,
    /** What a wallet answers to `signData` over a text. */
    signData: (text: string, domain: string, timestamp: number, options: { littleEndian?: boolean } = {}) => {
      const ordered = (value: number, length: number) =>
        options.littleEndian ? number(value, length).reverse() : number(value, length)
      const host = Buffer.from(domain)
      const content = Buffer.from(text)
      const bytes = digest(
        prefix,
        '/sign-data/',
        account,
        ordered(host.length, 4),
        host,
        ordered(timestamp, 8),
        'txt',
        ordered(content.length, 4),
        content,
      )
      const signature = sign(bytes, keys.secretKey).toString('base64')
      const payload = { type: 'text', text }
      return { type: 'signData', signature, timestamp, domain, publicKey, walletStateInit, payload }
    },
    /** What a wallet answers to `ton_proof` over a payload. */
    signProof: (payload: string, domain: string, timestamp: number) => {
      const host = Buffer.from(domain)
      const inner = digest(
        'ton-proof-item-v2/',
        account,
        number(host.length, 4).reverse(),
        host,
        number(timestamp, 8).reverse(),
        payload,
      )
      const signature = sign(digest(prefix, inner), keys.secretKey).toString('base64')
      const shown = { lengthBytes: host.length, value: domain }
      return { type: 'ton_proof', signature, timestamp, domain: shown, publicKey, walletStateInit, payload }
    },
  }
}
