$(function () {
  $('.item').on('click', function () { $(this).toggleClass('on').siblings().removeClass('on'); });
  $.each([1, 2], (i, x) => $('#list').append($('<li>').text(x)));
});
