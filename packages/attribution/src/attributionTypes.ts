/** EIP-712 domain of a signed attribution. It has no chain and no contract: the message carries the chain. */
export const attributionDomain = { name: 'OpenEarn Attribution', version: '1' } as const

/** EIP-712 types of a signed attribution, as wallets and libraries take them. */
export const attributionTypes = {
  Attribution: [
    { name: 'code', type: 'string' },
    { name: 'actionId', type: 'bytes16' },
    { name: 'chainId', type: 'uint256' },
    { name: 'wallet', type: 'address' },
    { name: 'target', type: 'address' },
    { name: 'callHash', type: 'bytes32' },
    { name: 'referralCode', type: 'string' },
  ],
} as const
