// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC4626} from "@openzeppelin/contracts/interfaces/IERC4626.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {ILendingPool, StaticAToken} from "../../src/devnet/StaticAToken.sol";
import {StakedToken} from "../../src/devnet/StakedToken.sol";
import {WrappedStakedToken} from "../../src/devnet/WrappedStakedToken.sol";
import {DepositRouter} from "../../src/router/DepositRouter.sol";
import {IStaked, IStaticAToken, IWrappedStaked} from "../../src/router/IWrappers.sol";
import {ToldWrapper} from "./ToldWrapper.sol";
import {HostileToken} from "./tokens/HostileToken.sol";
import {OpenStaked} from "./tokens/OpenStaked.sol";
import {OpenToken} from "./tokens/OpenToken.sol";
import {ScaledToken} from "./tokens/ScaledToken.sol";
import {vm} from "./Vm.sol";

/// @dev The ways into wrappers and out of them.
enum Way {
    Wrap,
    Unwrap,
    DepositATokens,
    RedeemATokens,
    Redeem
}

/// @dev The call of a way.
function encodeWay(Way way, address wrapper, address token, uint256 amount, address receiver, uint256 minimum)
    pure
    returns (bytes memory)
{
    IStaticAToken lent = IStaticAToken(wrapper);
    IWrappedStaked wrapped = IWrappedStaked(wrapper);
    if (way == Way.Wrap) {
        return abi.encodeCall(DepositRouter.wrapWithMinimum, (wrapped, IStaked(token), amount, receiver, minimum));
    }
    if (way == Way.Unwrap) {
        return abi.encodeCall(DepositRouter.unwrapWithMinimum, (wrapped, IStaked(token), amount, receiver, minimum));
    }
    if (way == Way.DepositATokens) {
        return
            abi.encodeCall(DepositRouter.depositATokensWithMinimum, (lent, IERC20(token), amount, receiver, minimum));
    }
    if (way == Way.RedeemATokens) {
        return abi.encodeCall(DepositRouter.redeemATokensWithMinimum, (lent, IERC20(token), amount, receiver, minimum));
    }
    return abi.encodeCall(
        DepositRouter.redeemWithMinimum, (IERC4626(wrapper), IERC20(token), amount, receiver, minimum)
    );
}

/// @dev Whether a way takes the token and gives what wraps it.
function isIn(Way way) pure returns (bool) {
    return way == Way.Wrap || way == Way.DepositATokens;
}

/// @dev Wrappers that do what they are told, and one for one if they are told nothing.
contract ToldWrappersTest {
    address internal constant ALICE = address(0x3001);
    address internal constant BOB = address(0x3002);

    DepositRouter internal router;
    OpenStaked internal token;
    ToldWrapper internal wrapper;

    function setUp() public {
        router = new DepositRouter();
        token = new OpenStaked();
        wrapper = new ToldWrapper(token);
        token.mint(ALICE, 1_000);
        wrapper.mint(ALICE, 1_000);
        vm.prank(ALICE);
        token.approve(address(router), 1_000);
        vm.prank(ALICE);
        wrapper.approve(address(router), 1_000);
    }

    function test_givesToTheReceiverAndKeepsNothing() external {
        token.mint(address(router), 7);
        wrapper.mint(address(router), 5);
        wrapper.order(told(100, 90));
        for (uint256 i = 0; i < 5; i++) {
            Way way = Way(i);
            IERC20 got = isIn(way) ? IERC20(wrapper) : IERC20(token);
            IERC20 given = isIn(way) ? IERC20(token) : IERC20(wrapper);
            (uint256 before, uint256 had) = (got.balanceOf(BOB), given.balanceOf(ALICE));
            vm.assertEq(abi.decode(run(way, 100, BOB, 90), (uint256)), 90);
            vm.assertEq(got.balanceOf(BOB) - before, 90);
            vm.assertEq(had - given.balanceOf(ALICE), 100);
            vm.assertEq(token.balanceOf(address(router)), 7, "what it was sent stays, and is nobody's");
            vm.assertEq(wrapper.balanceOf(address(router)), 5, "what it was sent stays, and is nobody's");
            vm.assertEq(token.allowance(address(router), address(wrapper)), 0);
        }
    }

    function test_takesBackAnApprovalTheWrapperLeft() external {
        ToldWrapper.Orders memory orders = told(100, 100);
        orders.ignoresAllowance = true;
        wrapper.order(orders);
        run(Way.Wrap, 100, BOB, 100);
        vm.assertEq(token.allowance(address(router), address(wrapper)), 0);
        run(Way.DepositATokens, 100, BOB, 100);
        vm.assertEq(token.allowance(address(router), address(wrapper)), 0);
    }

    function test_takesNobodysTokensButTheCallers() external {
        for (uint256 i = 0; i < 5; i++) {
            bytes memory data = encodeWay(Way(i), address(wrapper), address(token), 100, BOB, 1);
            vm.prank(BOB);
            (bool succeeded,) = address(router).call(data);
            vm.assertFalse(succeeded);
        }
        vm.assertEq(token.balanceOf(ALICE), 1_000);
        vm.assertEq(wrapper.balanceOf(ALICE), 1_000);
    }

    function test_paysInTheTokenTheCallerNamedOrNot() external {
        ToldWrapper.Orders memory orders = told(100, 100);
        orders.pays = new OpenToken();
        wrapper.order(orders);
        refused(Way.Redeem, abi.encodeWithSelector(DepositRouter.AssetsBelowMinimum.selector, 100, 0));
        refused(Way.RedeemATokens, abi.encodeWithSelector(DepositRouter.AssetsBelowMinimum.selector, 100, 0));
        refused(Way.Unwrap, abi.encodeWithSelector(DepositRouter.AssetsBelowMinimum.selector, 100, 0));
    }

    function test_wrapWithMinimum_reverts_InvalidReceiver() external {
        refusedReceivers(Way.Wrap);
    }

    function test_unwrapWithMinimum_reverts_InvalidReceiver() external {
        refusedReceivers(Way.Unwrap);
    }

    function test_depositATokensWithMinimum_reverts_InvalidReceiver() external {
        refusedReceivers(Way.DepositATokens);
    }

    function test_redeemATokensWithMinimum_reverts_InvalidReceiver() external {
        refusedReceivers(Way.RedeemATokens);
    }

    function test_redeemWithMinimum_reverts_InvalidReceiver() external {
        refusedReceivers(Way.Redeem);
    }

    function test_wrapWithMinimum_reverts_ZeroMinimum() external {
        refusedZero(Way.Wrap);
    }

    function test_unwrapWithMinimum_reverts_ZeroMinimum() external {
        refusedZero(Way.Unwrap);
    }

    function test_depositATokensWithMinimum_reverts_ZeroMinimum() external {
        refusedZero(Way.DepositATokens);
    }

    function test_redeemATokensWithMinimum_reverts_ZeroMinimum() external {
        refusedZero(Way.RedeemATokens);
    }

    function test_redeemWithMinimum_reverts_ZeroMinimum() external {
        refusedZero(Way.Redeem);
    }

    function test_wrapWithMinimum_reverts_AmountNotTaken() external {
        refusedTaking(Way.Wrap);
    }

    function test_depositATokensWithMinimum_reverts_AmountNotTaken() external {
        refusedTaking(Way.DepositATokens);
    }

    function test_unwrapWithMinimum_reverts_AmountNotTaken() external {
        wrapper.order(told(99, 100));
        refused(Way.Unwrap, abi.encodeWithSelector(DepositRouter.AmountNotTaken.selector, 100, 1));
        // More than it was given, out of what others sent the router.
        wrapper.mint(address(router), 6);
        wrapper.order(told(101, 100));
        refused(Way.Unwrap, abi.encodeWithSelector(DepositRouter.AmountNotTaken.selector, 100, 0));
    }

    function test_wrapWithMinimum_reverts_SharesBelowMinimum() external {
        refusedLess(Way.Wrap, DepositRouter.SharesBelowMinimum.selector);
    }

    function test_depositATokensWithMinimum_reverts_SharesBelowMinimum() external {
        refusedLess(Way.DepositATokens, DepositRouter.SharesBelowMinimum.selector);
    }

    function test_unwrapWithMinimum_reverts_AssetsBelowMinimum() external {
        refusedLess(Way.Unwrap, DepositRouter.AssetsBelowMinimum.selector);
    }

    function test_redeemATokensWithMinimum_reverts_AssetsBelowMinimum() external {
        refusedLess(Way.RedeemATokens, DepositRouter.AssetsBelowMinimum.selector);
    }

    function test_redeemWithMinimum_reverts_AssetsBelowMinimum() external {
        refusedLess(Way.Redeem, DepositRouter.AssetsBelowMinimum.selector);
    }

    function test_wrapWithMinimum_reverts_SafeERC20FailedOperation() external {
        refusedToken(Way.Wrap);
    }

    function test_depositATokensWithMinimum_reverts_SafeERC20FailedOperation() external {
        refusedToken(Way.DepositATokens);
    }

    function test_unwrapWithMinimum_reverts_SafeERC20FailedOperation() external {
        refusedToken(Way.Unwrap);
    }

    function test_wrapWithMinimum_reverts_ReentrancyGuardReentrantCall() external {
        refusedReentry(Way.Wrap);
    }

    function test_unwrapWithMinimum_reverts_ReentrancyGuardReentrantCall() external {
        refusedReentry(Way.Unwrap);
    }

    function test_depositATokensWithMinimum_reverts_ReentrancyGuardReentrantCall() external {
        refusedReentry(Way.DepositATokens);
    }

    function test_redeemATokensWithMinimum_reverts_ReentrancyGuardReentrantCall() external {
        refusedReentry(Way.RedeemATokens);
    }

    function test_redeemWithMinimum_reverts_ReentrancyGuardReentrantCall() external {
        refusedReentry(Way.Redeem);
    }

    function refusedReceivers(Way way) private {
        address[2] memory receivers = [address(0), address(router)];
        for (uint256 i = 0; i < 2; i++) {
            vm.expectRevert(abi.encodeWithSelector(DepositRouter.InvalidReceiver.selector, receivers[i]));
            run(way, 100, receivers[i], 1);
        }
    }

    function refusedZero(Way way) private {
        vm.expectRevert(DepositRouter.ZeroMinimum.selector);
        run(way, 100, BOB, 0);
    }

    /// @dev Of less than it was given, and of more, out of what others sent the router.
    function refusedTaking(Way way) private {
        wrapper.order(told(99, 100));
        refused(way, abi.encodeWithSelector(DepositRouter.AmountNotTaken.selector, 100, 1));
        token.mint(address(router), 6);
        ToldWrapper.Orders memory orders = told(101, 100);
        orders.ignoresAllowance = true;
        wrapper.order(orders);
        refused(way, abi.encodeWithSelector(DepositRouter.AmountNotTaken.selector, 100, 0));
        // A fee cannot be made up for by it either.
        wrapper.order(told(100, 100));
        token.setFee(1);
        refused(way, abi.encodeWithSelector(DepositRouter.AmountNotTaken.selector, 100, 0));
    }

    /// @dev Whatever the wrapper says it gave, and whomever it gave it.
    function refusedLess(Way way, bytes4 selector) private {
        wrapper.order(told(100, 99));
        refused(way, abi.encodeWithSelector(selector, 100, 99));
        ToldWrapper.Orders memory orders = told(100, 100);
        orders.to = ALICE;
        wrapper.order(orders);
        refused(way, abi.encodeWithSelector(selector, 100, 0));
    }

    /// @dev A token that refuses by saying so.
    function refusedToken(Way way) private {
        HostileToken hostile = new HostileToken();
        hostile.returnFalse();
        (address over, address of_) =
            isIn(way) ? (address(wrapper), address(hostile)) : (address(hostile), address(token));
        bytes memory data = encodeWay(way, over, of_, 100, BOB, 1);
        vm.prank(ALICE);
        (bool succeeded, bytes memory answer) = address(router).call(data);
        vm.assertFalse(succeeded);
        vm.assertEq(
            keccak256(answer),
            keccak256(abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, address(hostile)))
        );
    }

    function refusedReentry(Way way) private {
        ToldWrapper.Orders memory orders = told(100, 100);
        orders.callsBack = encodeWay(way, address(wrapper), address(token), 1, ALICE, 1);
        wrapper.order(orders);
        run(way, 100, BOB, 100);
        vm.assertEq(
            keccak256(wrapper.lastAnswer()),
            keccak256(abi.encodeWithSelector(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector))
        );
    }

    function refused(Way way, bytes memory reason) private {
        vm.expectRevert(reason);
        run(way, 100, BOB, 100);
    }

    function told(uint256 takes, uint256 gives) private pure returns (ToldWrapper.Orders memory orders) {
        (orders.takes, orders.gives) = (takes, gives);
    }

    function run(Way way, uint256 amount, address receiver, uint256 minimum) private returns (bytes memory answer) {
        bytes memory data = encodeWay(way, address(wrapper), address(token), amount, receiver, minimum);
        vm.prank(ALICE);
        bool succeeded;
        (succeeded, answer) = address(router).call(data);
        if (!succeeded) {
            assembly {
                revert(add(answer, 32), mload(answer))
            }
        }
    }
}

/// @dev Wrappers as they are published, at any rate and amount: what rounds leaves nothing behind.
contract PublishedWrappersTest {
    address internal constant ALICE = address(0x3001);

    DepositRouter internal router;

    function setUp() public {
        router = new DepositRouter();
    }

    function testFuzz_wrapsAndUnwrapsStakedTokens(uint256 amount, uint256 grown, uint256 part) external {
        StakedToken token = new StakedToken();
        WrappedStakedToken wrapper = new WrappedStakedToken(token);
        amount = 1 ether + amount % 1e24;
        vm.deal(ALICE, amount);
        vm.prank(ALICE);
        token.submit{value: amount}(address(0));
        token.report(amount + amount * (grown % 1e18) / 1e18);

        uint256 given = 1e6 + part % (token.balanceOf(ALICE) - 1e6);
        uint256 wrapped = wrapper.getWstETHByStETH(given);
        run(Way.Wrap, address(wrapper), IERC20(token), given, wrapped, address(token));
        vm.assertEq(wrapper.balanceOf(ALICE), wrapped);
        vm.assertEq(token.sharesOf(address(router)), 0, "no share of what rounds is left");
        uint256 had = token.balanceOf(ALICE);
        uint256 shares = token.sharesOf(ALICE);
        uint256 told = wrapper.getStETHByWstETH(wrapped);
        run(Way.Unwrap, address(wrapper), IERC20(wrapper), wrapped, told - 2, address(token));
        // A transfer of an amount moves up to a share less than was unwrapped, which the wrapper keeps.
        vm.assertLe(wrapped, token.sharesOf(ALICE) - shares + 1);
        vm.assertLe(told, token.balanceOf(ALICE) - had + 2);
        vm.assertEq(token.sharesOf(address(router)), 0, "no share of what rounds is left");
        vm.assertEq(wrapper.balanceOf(address(router)), 0);
        vm.assertEq(token.allowance(address(router), address(wrapper)), 0);
    }

    function testFuzz_wrapsAndUnwrapsATokens(uint256 amount, uint256 grown, uint256 part) external {
        OpenToken asset = new OpenToken();
        ScaledToken aToken = new ScaledToken(asset);
        StaticAToken wrapper =
            new StaticAToken(ILendingPool(address(aToken)), IERC20(asset), IERC20(address(aToken)));
        amount = 1 ether + amount % 1e24;
        asset.mint(ALICE, amount);
        vm.prank(ALICE);
        asset.approve(address(aToken), amount);
        vm.prank(ALICE);
        aToken.supply(address(asset), amount, ALICE, 0);
        // What others have there pays for what is rounded in the last redemption.
        vm.prank(ALICE);
        aToken.transfer(address(wrapper), 1e3);
        aToken.setIndex(1e27 + grown % 2e27);

        uint256 given = 1e6 + part % (aToken.balanceOf(ALICE) - 1e6);
        uint256 told = wrapper.previewDeposit(given);
        run(Way.DepositATokens, address(wrapper), IERC20(address(aToken)), given, told - 1, address(aToken));
        uint256 wrapped = wrapper.balanceOf(ALICE);
        vm.assertLe(wrapped, told);
        vm.assertEq(aToken.scaledBalanceOf(address(router)), 0, "nothing of what rounds is left");
        uint256 half = wrapped / 2;
        run(Way.RedeemATokens, address(wrapper), wrapper, half, wrapper.previewRedeem(half) - 2, address(aToken));
        uint256 paid = wrapper.previewRedeem(wrapped - half);
        run(Way.Redeem, address(wrapper), wrapper, wrapped - half, paid, address(asset));
        vm.assertEq(asset.balanceOf(ALICE), paid);
        vm.assertEq(wrapper.balanceOf(ALICE), 0);
        vm.assertEq(aToken.scaledBalanceOf(address(router)), 0, "nothing of what rounds is left");
        vm.assertEq(aToken.allowance(address(router), address(wrapper)), 0);
    }

    function run(Way way, address wrapper, IERC20 given, uint256 amount, uint256 minimum, address token) private {
        vm.prank(ALICE);
        given.approve(address(router), amount);
        bytes memory data = encodeWay(way, wrapper, token, amount, ALICE, minimum);
        vm.prank(ALICE);
        (bool succeeded,) = address(router).call(data);
        vm.assertTrue(succeeded, "goes through");
    }
}
