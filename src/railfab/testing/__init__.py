"""For the tests of users and of platforms of others: the laws of a platform. Needs the extra `railfab[testing]`."""

import pytest

pytest.register_assert_rewrite("railfab.testing.platforms")
