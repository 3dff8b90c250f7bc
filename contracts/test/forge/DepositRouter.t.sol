// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.26;

import {IERC4626} from "@openzeppelin/contracts/interfaces/IERC4626.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {ReentrancyGuardTransient} from "@openzeppelin/contracts/utils/ReentrancyGuardTransient.sol";
import {DepositRouter} from "../../src/router/DepositRouter.sol";
import {ToldVault} from "./ToldVault.sol";
import {HostileToken} from "./tokens/HostileToken.sol";
import {OpenToken} from "./tokens/OpenToken.sol";
import {vm} from "./Vm.sol";

contract DepositRouterTest {
    address internal constant ALICE = address(0x3001);
    address internal constant BOB = address(0x3002);

    DepositRouter internal router;
    OpenToken internal token;
    ToldVault internal vault;

    function setUp() public {
        router = new DepositRouter();
        token = new OpenToken();
        vault = new ToldVault(token);
        token.mint(ALICE, 1_000);
        vm.prank(ALICE);
        token.approve(address(router), 1_000);
    }

    function test_givesTheSharesToTheReceiverAndKeepsNothing() external {
        token.mint(address(router), 7);
        vault.order(told(100, 90));
        vm.expectCall(address(token), abi.encodeCall(IERC20.approve, (address(vault), 0)), 0);
        vm.assertEq(deposit(600, BOB, 540), 540);
        vm.assertEq(vault.balanceOf(BOB), 540);
        vm.assertEq(token.balanceOf(ALICE), 400);
        vm.assertEq(token.balanceOf(address(vault)), 600);
        vm.assertEq(token.balanceOf(address(router)), 7, "what it was sent stays, and is nobody's");
        vm.assertEq(token.allowance(address(router), address(vault)), 0);
    }

    function test_countsOnlyWhatTheReceiverHasMoreOf() external {
        deposit(100, BOB, 1);
        vm.assertEq(deposit(100, BOB, 100), 100);
        vm.assertEq(vault.balanceOf(BOB), 200);
    }

    function test_takesBackAnApprovalTheVaultLeft() external {
        ToldVault.Orders memory orders = told(100, 100);
        orders.ignoresAllowance = true;
        vault.order(orders);
        deposit(600, BOB, 600);
        vm.assertEq(token.allowance(address(router), address(vault)), 0);
    }

    function test_depositWithMinimum_reverts_InvalidReceiver() external {
        vm.expectRevert(abi.encodeWithSelector(DepositRouter.InvalidReceiver.selector, address(0)));
        deposit(600, address(0), 1);
        vm.expectRevert(abi.encodeWithSelector(DepositRouter.InvalidReceiver.selector, address(router)));
        deposit(600, address(router), 1);
    }

    function test_depositWithMinimum_reverts_ZeroMinimum() external {
        vm.expectRevert(DepositRouter.ZeroMinimum.selector);
        deposit(600, BOB, 0);
    }

    function test_depositWithMinimum_reverts_AmountNotReceived() external {
        token.setFee(1);
        vm.expectRevert(abi.encodeWithSelector(DepositRouter.AmountNotReceived.selector, 600, 599));
        deposit(600, BOB, 1);
    }

    function test_depositWithMinimum_reverts_AmountNotTaken_ofLess() external {
        vault.order(told(99, 100));
        vm.expectRevert(abi.encodeWithSelector(DepositRouter.AmountNotTaken.selector, 600, 6));
        deposit(600, BOB, 1);
    }

    function test_depositWithMinimum_reverts_AmountNotTaken_ofWhatIsPaidBack() external {
        ToldVault.Orders memory orders = told(100, 100);
        orders.paysBack = 50;
        vault.order(orders);
        vm.expectRevert(abi.encodeWithSelector(DepositRouter.AmountNotTaken.selector, 600, 300));
        deposit(600, BOB, 1);
    }

    function test_depositWithMinimum_reverts_AmountNotTaken_ofWhatOthersSentIt() external {
        token.mint(address(router), 6);
        ToldVault.Orders memory orders = told(101, 100);
        orders.ignoresAllowance = true;
        vault.order(orders);
        vm.expectRevert(abi.encodeWithSelector(DepositRouter.AmountNotTaken.selector, 600, 0));
        deposit(600, BOB, 1);
    }

    function test_depositWithMinimum_reverts_SharesBelowMinimum() external {
        vault.order(told(100, 99));
        vm.expectRevert(abi.encodeWithSelector(DepositRouter.SharesBelowMinimum.selector, 595, 594));
        deposit(600, BOB, 595);
    }

    function test_depositWithMinimum_reverts_SharesBelowMinimum_whateverTheVaultSays() external {
        ToldVault.Orders memory orders = told(100, 100);
        orders.to = ALICE;
        vault.order(orders);
        vm.expectRevert(abi.encodeWithSelector(DepositRouter.SharesBelowMinimum.selector, 600, 0));
        deposit(600, BOB, 600);
    }

    function test_depositWithMinimum_reverts_SharesBelowMinimum_ofAMinimumNobodyCouldGive() external {
        deposit(100, BOB, 1);
        vm.expectRevert(
            abi.encodeWithSelector(DepositRouter.SharesBelowMinimum.selector, type(uint256).max, uint256(600))
        );
        deposit(600, BOB, type(uint256).max);
    }

    function test_depositWithMinimum_reverts_SafeERC20FailedOperation() external {
        HostileToken hostile = new HostileToken();
        hostile.returnFalse();
        ToldVault other = new ToldVault(OpenToken(address(hostile)));
        vm.expectRevert(abi.encodeWithSelector(SafeERC20.SafeERC20FailedOperation.selector, address(hostile)));
        vm.prank(ALICE);
        router.depositWithMinimum(IERC4626(address(other)), 1, BOB, 1);
    }

    function test_depositWithMinimum_reverts_ReentrancyGuardReentrantCall() external {
        ToldVault.Orders memory orders = told(100, 100);
        orders.callsBack =
            abi.encodeCall(DepositRouter.depositWithMinimum, (IERC4626(address(vault)), 1, ALICE, 1));
        vault.order(orders);
        deposit(600, BOB, 600);
        vm.assertEq(
            keccak256(vault.lastAnswer()),
            keccak256(abi.encodeWithSelector(ReentrancyGuardTransient.ReentrancyGuardReentrantCall.selector))
        );
    }

    function test_takesNobodysTokensButTheCallers() external {
        vm.prank(BOB);
        vm.expectRevert();
        router.depositWithMinimum(IERC4626(address(vault)), 600, BOB, 1);
        vm.assertEq(token.balanceOf(ALICE), 1_000);
    }

    function told(uint256 takes, uint256 gives) private pure returns (ToldVault.Orders memory orders) {
        (orders.takes, orders.gives) = (takes, gives);
    }

    function deposit(uint256 assets, address receiver, uint256 minimum) private returns (uint256) {
        vm.prank(ALICE);
        return router.depositWithMinimum(IERC4626(address(vault)), assets, receiver, minimum);
    }
}
