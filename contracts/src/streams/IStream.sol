// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

/// @title Holds the budget of one reward stream and pays what was allocated to each wallet
/// @notice Rewards are computed outside and committed as the root of a Merkle tree. A leaf is
/// `keccak256(abi.encodePacked(address user, uint256 cumulative))`: all the user has earned so far, so one claim pays
/// everything that is open. Pairs are hashed in sorted order. Amounts are smallest units of the reward token.
interface IStream {
    /// @notice A root and the time it stands for; 0 and 0 where there is none.
    struct Root {
        bytes32 root;
        uint40 timestamp;
    }

    /// @notice Claims up to the amounts in the tree under `root` are open.
    event RootUpdated(bytes32 indexed root, uint40 indexed timestamp, uint256 totalAllocated);

    /// @notice `user` was paid `amount`; it has been paid `cumulative` in all, by the root of `timestamp`.
    event RewardsClaimed(address indexed user, uint256 amount, uint256 cumulative, uint40 indexed timestamp);

    /// @notice The budget grew by `amount`.
    event Funded(uint256 amount);

    /// @notice `amount` that was owed to nobody left to `to`.
    event Withdrawn(address indexed to, uint256 amount);

    /// @notice Claims were stopped or resumed.
    event ClaimsPausedSet(bool paused);

    error NotFactory(address caller);
    error NotCommitter(address caller);
    error AlreadyInitialized();
    error FactoryIsPaused();
    error ClaimsArePaused();
    error ZeroRoot();
    /// @notice A root must be newer than the one before.
    error TimestampNotIncreasing(uint40 current, uint40 given);
    /// @notice A root can not be of a time to come.
    error TimestampInFuture(uint40 given);
    error AllocationDecreasing(uint256 current, uint256 given);
    error AllocationAboveFunded(uint256 funded, uint256 given);
    /// @notice The stream holds less than it would owe.
    error AllocationAboveBalance(uint256 balance, uint256 owed);
    /// @notice Neither the current nor the previous root is of this time.
    error UnknownRoot(uint40 timestamp);
    error InvalidProof();
    error NothingToClaim(address user, uint256 claimed, uint256 amount);
    /// @notice The tree promises more than its commitment allocated.
    error AllocationExhausted(uint256 left, uint256 amount);
    /// @notice The token took more from the stream than was paid.
    error TokenTookMore(uint256 amount, uint256 taken);
    error InvalidReceiver(address to);
    error ZeroAmount();
    error AmountAboveWithdrawable(uint256 withdrawable, uint256 amount);

    /// @notice Pays the caller what it has earned and not yet been paid.
    /// @param amount the caller's cumulative amount in the tree.
    /// @param timestamp the time of the root the proof is for: the current or the previous one.
    /// @param proof the leaf's siblings, from the bottom up.
    function claim(uint256 amount, uint40 timestamp, bytes32[] calldata proof) external;

    /// @notice The same for `user`, to `user`; only the factory, which has checked that the user wants it.
    function claimFor(address user, uint256 amount, uint40 timestamp, bytes32[] calldata proof) external;

    /// @notice Opens claims on a new tree; only the committer. The root before stays valid, older ones end.
    /// @param root the tree's root.
    /// @param timestamp unix seconds of the state the tree shows; newer than the last, not in the future.
    /// @param totalAllocated the sum of the tree; never less than before, never more than was funded.
    function updateRoot(bytes32 root, uint40 timestamp, uint256 totalAllocated) external;

    /// @notice Makes a new stream what it is; only the factory, once.
    function initialize(bytes16 streamId, address rewardToken, address admin) external;

    /// @notice Counts `amount` as funded; only the factory, which sends it in the same transaction.
    function recordFunds(uint256 amount) external;

    /// @notice Sends `amount` that is owed to nobody to `to`; only the factory.
    function withdraw(address to, uint256 amount) external;

    /// @notice Stops or resumes claims; only the factory.
    function setClaimsPaused(bool paused) external;

    /// @notice Whether `claim` by `user` with these values would be accepted; the token itself may still refuse.
    function canClaim(address user, uint256 amount, uint40 timestamp, bytes32[] calldata proof)
        external
        view
        returns (bool);

    /// @notice What `user` has been paid in all.
    function getClaimedRewards(address user) external view returns (uint256);

    /// @notice The ERC-20 that is paid out.
    function getRewardToken() external view returns (address);

    /// @notice Who adds and withdraws funds.
    function getAdmin() external view returns (address);

    /// @notice The UUID of the stream.
    function getStreamId() external view returns (bytes16);

    /// @notice The factory that made the stream.
    function getFactory() external view returns (address);

    /// @notice All that was ever funded; withdrawals do not lower it.
    function getTotalFunded() external view returns (uint256);

    /// @notice All that was ever allocated to wallets.
    function getTotalAllocated() external view returns (uint256);

    /// @notice All that was ever paid to wallets.
    function getTotalClaimed() external view returns (uint256);

    /// @notice What could leave now without touching what is owed: balance − (allocated − claimed), or 0.
    function getWithdrawable() external view returns (uint256);

    /// @notice The two roots that proofs may be for.
    function getRoots() external view returns (Root memory current, Root memory previous);

    /// @notice Whether the claims of this stream are stopped; see also the factory's `paused`.
    function areClaimsPaused() external view returns (bool);
}
