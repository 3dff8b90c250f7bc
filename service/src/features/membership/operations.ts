import { defineOperation, type Operation } from '../../kernel/operation.js'
import type { SignatureContext } from '../../wallets/signatures.js'
import { CreateMembershipBody, CreateMembershipResponse, createMembership } from './createMembership.js'
import {
  CreateMembershipAgreementBody,
  CreateMembershipAgreementResponse,
  createMembershipAgreement,
} from './createMembershipAgreement.js'
import { GetMembershipQuery, GetMembershipResponse, getMembership } from './getMembership.js'

export const membershipOperations: readonly Operation<SignatureContext>[] = [
  defineOperation({
    operationId: 'GetMembership',
    method: 'GET',
    path: '/v2/membership/',
    summary: 'Is this wallet a member?',
    description: 'A wallet must be a member before deposits and withdrawals are built for it.',
    tag: 'Membership',
    access: 'publishable',
    cost: 1,
    query: GetMembershipQuery,
    responses: { 200: GetMembershipResponse, 400: 'The address or ecosystem is malformed' },
    run: getMembership,
  }),
  defineOperation({
    operationId: 'CreateMembershipAgreement',
    method: 'POST',
    path: '/v2/membership/agreement',
    summary: 'The message a wallet signs to become a member',
    description:
      'EVM messages follow EIP-4361, Solana messages Sign In With Solana. Sign the message as it stands, then send the signature with the nonce.',
    tag: 'Membership',
    access: 'publishable',
    cost: 2,
    body: CreateMembershipAgreementBody,
    bodyName: 'V2CreateMembershipAgreementInput',
    addressLimited: true,
    responses: {
      200: CreateMembershipAgreementResponse,
      400: 'The address, url or chain id is malformed',
      409: 'The wallet is a member already',
    },
    run: createMembershipAgreement,
  }),
  defineOperation({
    operationId: 'CreateMembership',
    method: 'POST',
    path: '/v2/membership/',
    summary: 'Makes a wallet a member',
    description: 'The signature is checked against the agreement kept under the nonce, which works once.',
    tag: 'Membership',
    access: 'publishable',
    cost: 2,
    body: CreateMembershipBody,
    bodyName: 'V2CreateMembershipInput',
    responses: {
      200: CreateMembershipResponse,
      400: 'The signature, the nonce or the distributor is not good; nothing was used up',
      409: 'The wallet is a member already',
      503: 'The chain of a contract wallet cannot be read, or too many of the organization are being checked',
    },
    run: createMembership,
  }),
]
